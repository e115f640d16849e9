package main

import (
	"errors"

	iggcon "github.com/apache/iggy/foreign/go/contracts"
)

// identifierBytes gives the bytes of an identifier, unless it could not be made.
func identifierBytes(one iggcon.Identifier, earlier error) ([]byte, error) {
	data, err := one.MarshalBinary()
	return data, errors.Join(earlier, err)
}

// partitioningBytes gives the bytes of a partitioning, unless it could not be made.
func partitioningBytes(one iggcon.Partitioning, earlier error) ([]byte, error) {
	data, err := one.MarshalBinary()
	return data, errors.Join(earlier, err)
}
