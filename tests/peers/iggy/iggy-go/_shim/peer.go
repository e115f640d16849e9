// Added to the vendored copy of the library by the build: the connection of its client is not exported, so
// that it can only be driven on bytes from within its package.

package tcp

import (
	"bytes"
	"net"
)

// PeerWire is a connection on which a reply waits, and which keeps what is sent.
type PeerWire struct {
	net.Conn
	Sent  bytes.Buffer
	Reply *bytes.Reader
}

func (w *PeerWire) Write(data []byte) (int, error) { return w.Sent.Write(data) }
func (w *PeerWire) Read(data []byte) (int, error)  { return w.Reply.Read(data) }

// PeerClient is a client as it stands once it is connected and logged in.
func PeerClient(wire *PeerWire) *IggyTcpClient { return &IggyTcpClient{conn: wire} }
