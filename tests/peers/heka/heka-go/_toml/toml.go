// Package toml stands where Heka's pipeline wants a reader of its configuration files, whose own module is
// not to be had: the names it calls, none of which is on the way of a message.
package toml

import "errors"

var errNone = errors.New("there are no configuration files here")

// Primitive is a part of a file, to be read later.
type Primitive any

// MetaData is what is known of a file's keys.
type MetaData struct{}

// Decode fails.
func Decode(string, any) (MetaData, error) { return MetaData{}, errNone }

// PrimitiveDecode fails.
func PrimitiveDecode(Primitive, any) error { return errNone }

// PrimitiveDecodeStrict fails.
func PrimitiveDecodeStrict(Primitive, any, map[string]any) error { return errNone }
