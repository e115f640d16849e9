// Google's protobuf for Go (dynamicpb) on Heka messages, by the descriptor beside the driver: Unmarshal and
// Marshal as they are called by default, which ask for required fields.
package main

import (
	_ "embed"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

//go:embed shared-heka/message.textproto
var schema []byte

// Parts of an error's text that leave no doubt about the class; the first that matches counts. Of bytes
// that are wrong it says no more than that they are.
var classes = [][2]string{
	{"required field", "missing-field"},
	{"value out of range", "invalid-value"},
	{"no double", "invalid-value"},
}

var messageType = func() protoreflect.MessageDescriptor {
	file := new(descriptorpb.FileDescriptorProto)
	if err := prototext.Unmarshal(schema, file); err != nil {
		panic(err)
	}
	found, err := protodesc.NewFile(file, nil)
	if err != nil {
		panic(err)
	}
	return found.Messages().ByName("Message")
}()

// dynamicpb writes fields in the order of a hash table unless it is asked for an order.
var marshal = proto.MarshalOptions{Deterministic: true}

func main() { serve(answer) }

func answer(asked *request) (head map[string]any, blob []byte) {
	if asked.Op == "" {
		return hello(), nil
	}
	head = map[string]any{"id": asked.ID, "outcome": "accepted"}
	defer func() { // a panic is nothing that the library documents
		if fault := recover(); fault != nil {
			head, blob = refused(asked, fmt.Errorf("panic: %v", fault)), nil
			head["untyped"] = true
		}
	}()
	message, err := dynamicpb.NewMessage(messageType), error(nil)
	switch asked.Op {
	case "decode":
		if err = proto.Unmarshal(asked.data, message); err == nil {
			head["value"], head["consumed"] = shown(message), len(asked.data)
		}
	case "encode":
		if err = fill(message, asked.Value); err == nil {
			blob, err = marshal.Marshal(message)
		}
	default:
		head["outcome"] = "unsupported"
	}
	if err != nil {
		return refused(asked, err), nil
	}
	return head, blob
}

func refused(asked *request, err error) map[string]any {
	text, class := err.Error(), "other"
	for _, row := range classes {
		if class == "other" && strings.Contains(text, row[0]) {
			class = row[1]
		}
	}
	typed := errors.Is(err, proto.Error) || class == "invalid-value"
	return map[string]any{"id": asked.ID, "outcome": "refused", "class": class, "text": text, "untyped": !typed}
}

func hello() map[string]any {
	version := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == "google.golang.org/protobuf" {
				version = strings.TrimPrefix(module.Version, "v")
			}
		}
	}
	claim := map[string]any{"ops": []string{"decode", "encode"}, "codecs": []string{"none"}, "profiles": []string{"reader"}}
	return map[string]any{"hello": map[string]any{"protocol": 1, "name": "protobuf-go", "version": version,
		"revisions": map[string]any{"heka.message/0.10": claim}, "errors": "coarse", "window": 64, "cost": "fast"}}
}
