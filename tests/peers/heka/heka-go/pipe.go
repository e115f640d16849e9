package main

import (
	"bytes"
	"encoding/hex"
	"io"
	"log"
	"strings"

	"github.com/mozilla-services/heka/message"
	"github.com/mozilla-services/heka/pipeline"
)

// A pipe is the way of a stream through hekad, from the bytes to the decoded message: an input's splitter
// runner with a HekaFramingSplitter, and the ProtobufDecoder. It stands for the input and the deliverer
// between them, as an input does whose decoder is synchronous. Packs go in a circle of one.
type pipe struct {
	pipeline.InputRunner
	runner  pipeline.SplitterRunner
	decoder *pipeline.ProtobufDecoder
	packs   chan *pipeline.PipelinePack
	opaque  bool // records are not decoded
	got     *frame
	logged  *bytes.Buffer
}

// A frame is a record of the splitter, and what became of it.
type frame struct {
	header  map[string]any
	message any
	signer  any
	err     error
}

func (f *frame) value() map[string]any {
	return map[string]any{"header": f.header, "message": f.message, "signer": f.signer}
}

func (p *pipe) InChan() chan *pipeline.PipelinePack { return p.packs }

func (p *pipe) Name() string { return "wireproof" }

func (p *pipe) LogError(err error) { pipeline.LogError.Print(err) }

func (p *pipe) DeliverFunc() pipeline.DeliverFunc { return p.Deliver }

func (p *pipe) Done() {}

// Deliver is what comes of a record that was let through.
func (p *pipe) Deliver(pack *pipeline.PipelinePack) {
	if p.opaque {
		p.got.message, p.got.err = hex.EncodeToString(pack.MsgBytes), nil
	} else if _, p.got.err = p.decoder.Decode(pack); p.got.err == nil {
		p.got.message = shown(pack.Message)
	}
	if pack.Signer != "" {
		p.got.signer = hex.EncodeToString([]byte(pack.Signer))
	}
	pack.Recycle(nil)
}

// opened is a pipe as its configuration makes it: without keys authentication is skipped.
func opened(asked *request) *pipe {
	p := &pipe{packs: make(chan *pipeline.PipelinePack, 1), logged: new(bytes.Buffer), opaque: asked.Options.Content == "opaque"}
	pipeline.LogInfo.SetOutput(io.Discard)
	pipeline.LogError = log.New(p.logged, "", 0)
	message.SetMaxMessageSize(64 * 1024)
	if most := asked.Options.MaxMessage; most != nil {
		message.SetMaxMessageSize(*most)
	}
	p.packs <- pipeline.NewPipelinePack(p.packs)
	p.decoder = new(pipeline.ProtobufDecoder)
	p.decoder.SetPipelineConfig(&pipeline.PipelineConfig{Globals: pipeline.DefaultGlobals()})
	p.decoder.Init(nil)
	splitter, whole := new(pipeline.HekaFramingSplitter), true
	config := splitter.ConfigStruct().(*pipeline.HekaFramingSplitterConfig)
	config.SkipAuth, config.Signers = asked.Options.Keys == nil, map[string]pipeline.Signer{}
	for name, key := range asked.Options.Keys {
		data, _ := hex.DecodeString(key)
		config.Signers[name] = pipeline.Signer{HmacKey: string(data)}
	}
	splitter.Init(config)
	p.runner = pipeline.NewSplitterRunner("HekaFramingSplitter", splitter, pipeline.CommonSplitterConfig{UseMsgBytes: &whole})
	p.runner.SetInputRunner(p)
	return p
}

// taken sends one record on. A record whose bytes end before its header does is left to UnframeRecord.
func (p *pipe) taken(record []byte) *frame {
	p.got = &frame{err: dropped}
	p.runner.DeliverRecord(record, p)
	header := new(message.Header)
	message.DecodeHeader(record[message.HEADER_DELIMITER_SIZE:int(record[1])+message.HEADER_FRAMING_SIZE], header)
	p.got.header = shown(header)
	return p.got
}

// each gives the records with where they begin and how many bytes were passed over before them, as heka-cat
// counts them; a record of nil is bytes without one. What is left in the end is the tail.
func (p *pipe) each(in io.Reader, do func(at, skipped int, record []byte) bool) (tail []byte) {
	at := 0
	for {
		n, record, err := p.runner.GetRecordFromStream(in)
		if err == io.EOF && n == 0 {
			return p.runner.GetRemainingData()
		}
		if n > 0 && !do(at+n-len(record), n-len(record), record) {
			return nil
		}
		at += n
	}
}

// The last that was logged says why bytes were passed over, if anything does.
func (p *pipe) why() string {
	lines := strings.Split(strings.TrimSpace(p.logged.String()), "\n")
	return lines[len(lines)-1]
}

// pieces gives one chunk a Read, or as much of it as there is room for.
type pieces [][]byte

func (p *pieces) Read(into []byte) (int, error) {
	for len(*p) > 0 && len((*p)[0]) == 0 {
		*p = (*p)[1:]
	}
	if len(*p) == 0 {
		return 0, io.EOF
	}
	n := copy(into, (*p)[0])
	(*p)[0] = (*p)[0][n:]
	return n, nil
}
