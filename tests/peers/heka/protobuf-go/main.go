// Google's protobuf for Go (dynamicpb) on Heka messages, by the descriptor beside the driver: Unmarshal and
// Marshal as they are called by default, which ask for required fields.
package main

import (
	_ "embed"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	peer "wireproof/peer/_shared/go"
)

//go:embed _shared/heka/message.textproto
var schema []byte

// Parts of an error's text that leave no doubt about the class; the first that matches counts. Of bytes
// that are wrong it says no more than that they are.
var classes = [][2]string{
	{"required field", "missing-field"},
	{"value out of range", "invalid-value"},
	{"no double", "invalid-value"},
	{"invalid value", "invalid-value"},
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

func main() {
	claim := peer.Claim{Ops: []string{"decode", "encode"}, Codecs: []string{"none"}, Profiles: []string{"reader"},
		Features: []string{}}
	driver := peer.Driver{Name: "protobuf-go", Module: "google.golang.org/protobuf", Classes: classes,
		Claims: map[string]peer.Claim{"heka.message/0.10": claim}, Decode: decode, Encode: encode}
	driver.Run()
}

func decode(asked *peer.Request, seen *peer.Log) error {
	message := dynamicpb.NewMessage(messageType)
	if err := proto.Unmarshal(asked.Data, message); err != nil {
		return err
	}
	seen.Batches = append(seen.Batches, shown(message))
	return nil
}

func encode(asked *peer.Request) ([]byte, error) {
	var value map[string]any
	if err := peer.Parse(asked, &value); err != nil {
		return nil, err
	}
	message := dynamicpb.NewMessage(messageType)
	if err := fill(message, value); err != nil {
		return nil, err
	}
	return marshal.Marshal(message)
}
