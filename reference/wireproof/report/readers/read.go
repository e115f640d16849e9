// SPDX-License-Identifier: Apache-2.0
// Read an export of wireproof: `go run readers/read.go`. Prints the number of cases and a digest of all.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
)

func main() {
	lines, err := os.Open("cases.ndjson")
	scanner, count, digest := bufio.NewScanner(lines), 0, uint32(0)
	scanner.Buffer(nil, 1<<30)
	for err == nil && scanner.Scan() {
		var c struct {
			ID, File, Op, Format, Revision, Level string
			Input, Expect                         json.RawMessage
		}
		var data []byte
		if err = json.Unmarshal(scanner.Bytes(), &c); err == nil && c.File != "" {
			data, err = os.ReadFile(c.File)
		}
		// your codec here: Op and Format say what to do with `data` (of the value in Input for an encode),
		// Expect what must come of it: accept, reject, or either of some behaviours
		digest = crc32.Update(crc32.Update(digest, crc32.IEEETable, []byte(c.ID+"\n")), crc32.IEEETable, data)
		count++
	}
	if err != nil || scanner.Err() != nil {
		panic(fmt.Sprint(err, scanner.Err()))
	}
	fmt.Printf("%d %08x\n", count, digest)
}
