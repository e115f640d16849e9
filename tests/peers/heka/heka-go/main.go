// Heka's own Go code: the splitter of its frames with its check of signatures, its splitter runner and its
// protobuf decoder as hekad puts them together, and the encoder of its Go client.
package main

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/mozilla-services/heka/client"
	"github.com/mozilla-services/heka/message"
)

var dropped = errors.New("dropped: its signature is not one of the signers'")

// unsupported is a value that the encoder has no way to be asked for.
type unsupported string

func (u unsupported) Error() string { return "the encoder has no say over " + string(u) }

// Parts of an error's text that leave no doubt about the class; the first that matches counts.
var classes = [][2]string{
	{"dropped: its signature", "auth-failed"},
	{"exceeds the maximum length", "limit-exceeded"},
	{"Message too big", "limit-exceeded"},
	{"Message header too big", "limit-exceeded"},
	{"invalid value", "invalid-value"},
}

func main() { serve(answer) }

// No panic is recovered: nor does hekad, between an input's bytes and its router. It ends the process.
func answer(asked *request) (head map[string]any, blob []byte) {
	if asked.Op == "" {
		return hello(), nil
	}
	head = map[string]any{"id": asked.ID, "outcome": "accepted"}
	p := opened(asked)
	var err error
	switch {
	case asked.Options.Compression != "" && asked.Options.Compression != "none", asked.Options.Resync == "c":
		err = unsupported("compression and resync")
	case asked.Op == "encode":
		blob, err = encoded(asked)
	case asked.Op == "scan":
		head["value"], head["consumed"] = scanned(p, asked)
	case asked.Format == "heka.message":
		data := asked.chunks[len(asked.chunks)-1]
		p.got = new(frame)
		pack := <-p.packs
		pack.MsgBytes = data
		p.Deliver(pack)
		head["value"], head["consumed"], err = p.got.message, len(data), p.got.err
	default:
		head["value"], head["consumed"], err = decoded(p, asked)
	}
	if err == nil {
		return head, blob
	}
	if errors.As(err, new(unsupported)) {
		return map[string]any{"id": asked.ID, "outcome": "unsupported", "text": err.Error()}, nil
	}
	refusal := map[string]any{"id": asked.ID, "outcome": "refused", "class": class(err), "text": err.Error()}
	if asked.Op == "decode" && asked.Format == "heka.stream" {
		refusal["before"] = head["value"]
	}
	return refusal, nil
}

func class(err error) string {
	for _, row := range classes {
		if strings.Contains(err.Error(), row[0]) {
			return row[1]
		}
	}
	return "other"
}

// decoded gives the frames up to the first bytes of which heka-cat says that they are corrupt, or that are
// delivered to nobody.
func decoded(p *pipe, asked *request) (value any, consumed int, err error) {
	frames := []any{}
	data := pieces(asked.chunks)
	p.each(&data, func(at, skipped int, record []byte) bool {
		if skipped > 0 {
			err = fmt.Errorf("Corruption detected at offset: %d bytes: %d %s", at-skipped, skipped, p.why())
			return false
		}
		got := p.taken(record)
		if err = got.err; err == nil {
			frames, consumed = append(frames, got.value()), at+len(record)
		}
		return err == nil
	})
	return map[string]any{"frames": frames}, consumed, err
}

// scanned accounts for every byte. A record that comes to no message is a frame without a value for those
// who ask for Go's framing, and else garbage.
func scanned(p *pipe, asked *request) (value any, consumed int) {
	items, data := []any{}, pieces(asked.chunks)
	add := func(kind string, at, length int, err error) map[string]any {
		if last := len(items) - 1; length > 0 && err == nil && kind == "garbage" && last >= 0 {
			if before := items[last].(map[string]any); before["kind"] == kind && before["class"] == nil {
				before["length"], consumed = before["length"].(int)+length, at+length
				return before
			}
		}
		item := map[string]any{"kind": kind, "at": at, "length": length}
		if err != nil {
			item["class"] = class(err)
		}
		if length > 0 {
			items, consumed = append(items, item), at+length
		}
		return item
	}
	tail := p.each(&data, func(at, skipped int, record []byte) bool {
		add("garbage", at-skipped, skipped, nil)
		if record == nil {
			return true
		}
		switch got := p.taken(record); {
		case got.err == nil:
			add("frame", at, len(record), nil)["value"] = got.value()
		case asked.Options.Resync == "go":
			add("frame", at, len(record), got.err)
		default:
			add("garbage", at, len(record), got.err)
		}
		return true
	})
	add("tail", consumed, len(tail), nil)
	return map[string]any{"items": items}, consumed
}

// encoded is a message, or frames one by one, each signed as its header asks.
func encoded(asked *request) (out []byte, err error) {
	if asked.Format == "heka.message" {
		return one(asked.Value, client.NewProtobufEncoder(nil).EncodeMessage)
	}
	var value struct {
		Frames []struct {
			Header  map[string]*string `json:"header"`
			Message json.RawMessage    `json:"message"`
		} `json:"frames"`
	}
	if err = json.Unmarshal(asked.Value, &value); err != nil {
		return nil, err
	}
	out = []byte{}
	for _, frame := range value.Frames {
		config, err := signing(frame.Header, asked.Options.Keys)
		if err != nil {
			return nil, err
		}
		bytes, err := framed(frame.Message, asked.Options.Content == "opaque", config)
		if err != nil {
			return nil, err
		}
		out = append(out, bytes...)
	}
	return out, nil
}

// framed is a frame of a message that the encoder writes, or of bytes that are there.
func framed(value json.RawMessage, opaque bool, config *message.MessageSigningConfig) (out []byte, err error) {
	if !opaque {
		return one(value, func(filled *message.Message) (bytes []byte, err error) {
			err = client.NewProtobufEncoder(config).EncodeMessageStream(filled, &bytes)
			return bytes, err
		})
	}
	var text string
	if err = json.Unmarshal(value, &text); err != nil {
		return nil, err
	}
	content, err := hex.DecodeString(text)
	if err == nil {
		err = client.CreateHekaStream(content, &out, config)
	}
	return out, err
}

func one(value json.RawMessage, encode func(*message.Message) ([]byte, error)) ([]byte, error) {
	fields, filled := map[string]any{}, new(message.Message)
	if err := json.Unmarshal(value, &fields); err != nil {
		return nil, err
	}
	if err := fill(filled, fields); err != nil {
		return nil, err
	}
	return encode(filled)
}

// signing is what the encoder is told to sign with; a header that it does not sign has no field but its length.
func signing(header map[string]*string, keys map[string]string) (*message.MessageSigningConfig, error) {
	signer, version, function := header["hmac_signer"], header["hmac_key_version"], header["hmac_hash_function"]
	if header["hmac"] != nil {
		return nil, unsupported("hmac")
	}
	if signer == nil && version == nil && function == nil {
		return nil, nil
	}
	if signer == nil || version == nil {
		return nil, unsupported("hmac_signer and hmac_key_version")
	}
	if function != nil && *function != "SHA1" {
		return nil, unsupported("hmac_hash_function")
	}
	name, _ := hex.DecodeString(*signer)
	key, known := keys[string(name)+"_"+*version]
	if !known {
		return nil, unsupported("hmac_signer without a key")
	}
	config := &message.MessageSigningConfig{Name: string(name)}
	if _, err := fmt.Sscan(*version, &config.Version); err != nil {
		return nil, invalid(err.Error())
	}
	secret, _ := hex.DecodeString(key)
	config.Key = string(secret)
	if function != nil {
		config.Hash = "sha1"
	}
	return config, nil
}

func hello() map[string]any {
	version := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == "github.com/mozilla-services/heka" {
				version = strings.TrimPrefix(module.Version, "v")
			}
		}
	}
	messages := map[string]any{"ops": []string{"decode", "encode"}, "codecs": []string{"none"}, "profiles": []string{"reader"}}
	frames := map[string]any{"ops": []string{"decode", "encode", "scan"}, "codecs": []string{"none"},
		"profiles": []string{"reader"}, "features": []string{"hmac", "opaque-content", "resync-go"}}
	return map[string]any{"hello": map[string]any{"protocol": 1, "name": "heka-go", "version": version,
		"revisions": map[string]any{"heka.message/0.10": messages, "heka.stream/0.10": frames},
		"errors":    "coarse", "window": 64, "cost": "fast"}}
}
