package main

import (
	binaryserialization "github.com/apache/iggy/foreign/go/binary_serialization"
	iggcon "github.com/apache/iggy/foreign/go/contracts"
)

// identifierBytes gives the bytes of an identifier, unless it could not be made.
func identifierBytes(one iggcon.Identifier, earlier error) ([]byte, error) {
	return binaryserialization.SerializeIdentifier(one), earlier
}

// partitioningBytes gives the bytes of a partitioning, unless it could not be made.
func partitioningBytes(one iggcon.Partitioning, earlier error) ([]byte, error) {
	return binaryserialization.SerializePartitioning(one), earlier
}
