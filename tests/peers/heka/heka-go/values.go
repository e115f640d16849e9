package main

import (
	"encoding/hex"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/mozilla-services/heka/message"
)

// invalid is a value that no field of Heka's types can hold.
type invalid string

func (i invalid) Error() string { return "invalid value: " + string(i) }

// The names of the enums' numbers, by the type.
var names = map[reflect.Type]map[int32]string{
	reflect.TypeFor[message.Field_ValueType]():         message.Field_ValueType_name,
	reflect.TypeFor[message.Header_HmacHashFunction](): message.Header_HmacHashFunction_name,
}

// shown gives every field of a Message, a Field or a Header by its name in the schema; one that is nil is null.
func shown(whole any) map[string]any {
	result := map[string]any{}
	each(reflect.ValueOf(whole).Elem(), func(name string, field reflect.Value) {
		result[name] = text(field)
	})
	return result
}

func each(whole reflect.Value, do func(string, reflect.Value)) {
	for i := range whole.NumField() {
		if name, _, _ := strings.Cut(whole.Type().Field(i).Tag.Get("json"), ","); name != "-" {
			do(name, whole.Field(i))
		}
	}
}

// text is a value as it travels: integers in decimal, bytes and text in hex, doubles by their bits.
func text(part reflect.Value) any {
	switch part.Kind() {
	case reflect.Pointer:
		switch {
		case part.IsNil():
			return nil
		case part.Elem().Kind() == reflect.Struct:
			return shown(part.Interface())
		}
		return text(part.Elem())
	case reflect.Slice:
		if data, ok := part.Interface().([]byte); ok {
			if data == nil {
				return nil
			}
			return hex.EncodeToString(data)
		}
		items := []any{}
		for i := range part.Len() {
			items = append(items, text(part.Index(i)))
		}
		return items
	case reflect.Bool:
		return part.Bool()
	case reflect.String:
		return hex.EncodeToString([]byte(part.String()))
	case reflect.Float64:
		return fmt.Sprintf("%016x", math.Float64bits(part.Float()))
	case reflect.Uint32:
		return strconv.FormatUint(part.Uint(), 10)
	}
	if name, ok := names[part.Type()][int32(part.Int())]; ok {
		return name
	}
	return strconv.FormatInt(part.Int(), 10)
}

// fill sets the fields that are not null; a number that does not fit its field is an error.
func fill(whole any, value map[string]any) (err error) {
	each(reflect.ValueOf(whole).Elem(), func(name string, field reflect.Value) {
		if part := value[name]; part != nil && err == nil {
			err = take(field, part)
		}
	})
	return err
}

func take(field reflect.Value, part any) error {
	switch field.Kind() {
	case reflect.Pointer:
		field.Set(reflect.New(field.Type().Elem()))
		if field.Elem().Kind() == reflect.Struct {
			return fill(field.Interface(), part.(map[string]any))
		}
		return take(field.Elem(), part)
	case reflect.Slice:
		if items, ok := part.([]any); ok {
			field.Set(reflect.MakeSlice(field.Type(), len(items), len(items)))
			for i, item := range items {
				if err := take(field.Index(i), item); err != nil {
					return err
				}
			}
			return nil
		}
		data, err := hex.DecodeString(part.(string))
		field.SetBytes(data)
		return err
	case reflect.Bool:
		field.SetBool(part.(bool))
		return nil
	}
	return scalar(field, part.(string))
}

func scalar(field reflect.Value, part string) error {
	switch field.Kind() {
	case reflect.String:
		data, err := hex.DecodeString(part)
		field.SetString(string(data))
		return err
	case reflect.Float64:
		if len(part) != 16 {
			return invalid("no double has " + strconv.Itoa(len(part)/2) + " bytes")
		}
		bits, err := strconv.ParseUint(part, 16, 64)
		field.SetFloat(math.Float64frombits(bits))
		return err
	}
	for number, name := range names[field.Type()] {
		if name == part {
			field.SetInt(int64(number))
			return nil
		}
	}
	number, err := strconv.ParseInt(part, 10, field.Type().Bits())
	if err != nil {
		return invalid(err.Error())
	}
	field.SetInt(number)
	return nil
}
