package main

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// shown gives every field; one that is not there is null, also where the schema has a default.
func shown(message protoreflect.Message) map[string]any {
	fields, result := message.Descriptor().Fields(), map[string]any{}
	for i := range fields.Len() {
		field := fields.Get(i)
		name := string(field.Name())
		switch {
		case field.IsList():
			list, items := message.Get(field).List(), []any{}
			for at := range list.Len() {
				items = append(items, text(field, list.Get(at)))
			}
			result[name] = items
		case message.Has(field):
			result[name] = text(field, message.Get(field))
		default:
			result[name] = nil
		}
	}
	return result
}

// text is a value as it travels: integers in decimal, bytes and text in hex, doubles by their bits.
func text(field protoreflect.FieldDescriptor, value protoreflect.Value) any {
	switch field.Kind() {
	case protoreflect.MessageKind:
		return shown(value.Message())
	case protoreflect.BoolKind:
		return value.Bool()
	case protoreflect.BytesKind:
		return hex.EncodeToString(value.Bytes())
	case protoreflect.StringKind:
		return hex.EncodeToString([]byte(value.String()))
	case protoreflect.DoubleKind:
		return fmt.Sprintf("%016x", math.Float64bits(value.Float()))
	case protoreflect.EnumKind:
		if named := field.Enum().Values().ByNumber(value.Enum()); named != nil {
			return string(named.Name())
		}
		return strconv.Itoa(int(value.Enum()))
	default:
		return strconv.FormatInt(value.Int(), 10)
	}
}

// fill sets the fields that are not null; a number that does not fit its field is an error.
func fill(message protoreflect.Message, value map[string]any) error {
	fields := message.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		part := value[string(field.Name())]
		if part == nil {
			continue
		}
		if !field.IsList() {
			taken, err := take(field, part, nil)
			if err != nil {
				return err
			}
			message.Set(field, taken)
			continue
		}
		list := message.Mutable(field).List()
		for _, item := range part.([]any) {
			taken, err := take(field, item, list)
			if err != nil {
				return err
			}
			list.Append(taken)
		}
	}
	return nil
}

func take(field protoreflect.FieldDescriptor, part any, list protoreflect.List) (protoreflect.Value, error) {
	switch field.Kind() {
	case protoreflect.MessageKind:
		inner := list.NewElement()
		return inner, fill(inner.Message(), part.(map[string]any))
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(part.(bool)), nil
	case protoreflect.EnumKind:
		named := field.Enum().Values().ByName(protoreflect.Name(part.(string)))
		return protoreflect.ValueOfEnum(named.Number()), nil
	case protoreflect.Int32Kind:
		number, err := strconv.ParseInt(part.(string), 10, 32)
		return protoreflect.ValueOfInt32(int32(number)), err
	case protoreflect.Int64Kind:
		number, err := strconv.ParseInt(part.(string), 10, 64)
		return protoreflect.ValueOfInt64(number), err
	}
	data, err := hex.DecodeString(part.(string))
	switch {
	case err != nil:
		return protoreflect.Value{}, err
	case field.Kind() == protoreflect.BytesKind:
		return protoreflect.ValueOfBytes(data), nil
	case field.Kind() == protoreflect.StringKind:
		return protoreflect.ValueOfString(string(data)), nil
	case len(data) != 8:
		return protoreflect.Value{}, fmt.Errorf("no double has %d bytes", len(data))
	}
	bits, err := strconv.ParseUint(part.(string), 16, 64)
	return protoreflect.ValueOfFloat64(math.Float64frombits(bits)), err
}
