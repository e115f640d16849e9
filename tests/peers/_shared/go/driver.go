package peer

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
)

// Claim is what a driver says of one format and revision.
type Claim struct {
	Ops      []string `json:"ops"`
	Codecs   []string `json:"codecs"`
	Profiles []string `json:"profiles"`
	Observes []string `json:"observes,omitempty"`
	Features []string `json:"features"`
}

// Driver binds a library. Module is its path, by which its version is found in this binary. Classes are
// parts of an error's text that leave no doubt about the class; the first that matches counts.
type Driver struct {
	Name, Module string
	Claims       map[string]Claim
	Classes      [][2]string
	Decode       func(*Request, *Log) error
	Encode       func(*Request) ([]byte, error)
}

// Unsupported is a question that the library cannot be asked: no way to express it in its types.
type Unsupported string

func (u Unsupported) Error() string { return string(u) }

// Beyond is a field of a value that the library's writer sets by itself, to something else.
func Beyond(field string) error { return Unsupported("the writer has no say over " + field) }

// Observes are the patterns of a log's fields: those of messages, of batches and of records.
func Observes(message, batch, record []string) (patterns []string) {
	for _, name := range message {
		patterns = append(patterns, "batches[]."+name, "batches[].messages[]."+name)
	}
	for _, name := range batch {
		patterns = append(patterns, "batches[]."+name)
	}
	for _, name := range record {
		patterns = append(patterns, "batches[].records[]."+name)
	}
	return patterns
}

// Run answers requests until stdin ends.
func (d *Driver) Run() {
	in, out := bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)
	for {
		request, err := read(in)
		if errors.Is(err, io.EOF) {
			out.Flush()
			return
		}
		if err != nil {
			panic(err)
		}
		head, blob := d.answer(request)
		write(out, head, blob)
		out.Flush() // what is answered is not lost with the case that the process dies of
		var memory runtime.MemStats
		if runtime.ReadMemStats(&memory); memory.HeapAlloc > 64<<20 {
			runtime.GC()
		}
	}
}

func (d *Driver) answer(r *Request) (head map[string]any, blob []byte) {
	if r.Op == "" {
		return d.hello(), nil
	}
	log := new(Log)
	defer func() { // a panic of the library would have ended any other caller
		if fault := recover(); fault != nil {
			outcome, text := "crashed", cut(fmt.Sprintf("panic: %v", fault))
			if own() {
				outcome = "faulty"
			}
			head, blob = map[string]any{"id": r.ID, "outcome": outcome, "text": text}, nil
		}
	}()
	var err error
	head = map[string]any{"id": r.ID, "outcome": "accepted"}
	switch {
	case r.Op == "decode" && d.Decode != nil:
		if err = d.Decode(r, log); err == nil {
			head["value"] = log.value(r)
		}
	case r.Op == "encode" && d.Encode != nil:
		blob, err = d.Encode(r)
	default:
		err = Unsupported("no " + r.Op)
	}
	if err != nil {
		return d.refused(r, log, err), nil
	}
	return head, blob
}

func (d *Driver) refused(r *Request, log *Log, err error) map[string]any {
	text, unsupported, class := cut(err.Error()), Unsupported(""), "other"
	if errors.As(err, &unsupported) {
		return map[string]any{"id": r.ID, "outcome": "unsupported", "text": text}
	}
	for _, row := range d.Classes {
		if class == "other" && strings.Contains(text, row[0]) {
			class = row[1]
		}
	}
	head := map[string]any{"id": r.ID, "outcome": "refused", "class": class, "text": text}
	if r.Op == "decode" {
		head["before"] = log.value(r)
	}
	return head
}

// own tells whether the panic that is recovered came from a driver: from it, or from what it called of Go's
// own packages. The path of a library begins with the name of a host.
func own() bool {
	calls := make([]uintptr, 64)
	frames := runtime.CallersFrames(calls[:runtime.Callers(0, calls)])
	for panicked := false; ; {
		frame, more := frames.Next()
		first, _, inFolder := strings.Cut(frame.Function, "/")
		switch {
		case frame.Function == "runtime.gopanic":
			panicked = true
		case panicked && (strings.HasPrefix(frame.Function, "main.") || strings.HasPrefix(frame.Function, "wireproof/peer/")):
			return true
		case panicked && inFolder && strings.Contains(first, "."), !more:
			return false
		}
	}
}

func cut(text string) string {
	if len(text) > 300 {
		return text[:300]
	}
	return text
}

func (d *Driver) hello() map[string]any {
	version := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == d.Module {
				version = strings.TrimPrefix(module.Version, "v")
			}
		}
	}
	return map[string]any{"hello": map[string]any{"protocol": 1, "name": d.Name, "version": version,
		"revisions": d.Claims, "errors": "coarse", "window": 64, "cost": "fast"}}
}
