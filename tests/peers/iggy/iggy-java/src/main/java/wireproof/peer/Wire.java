package wireproof.peer;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** An Iggy server in the classic framing on a free port of the loopback (iggy.md, section 2.1). */
final class Wire {
    static final int LOGIN = 38;
    static final int POLL = 100;
    static final int SEND = 101;

    private final ServerSocket socket = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());
    private final Map<Integer, byte[]> replies = new ConcurrentHashMap<>(Map.of(LOGIN, new byte[] {1, 0, 0, 0}));
    private final Map<Integer, byte[]> sent = new ConcurrentHashMap<>();

    Wire() throws IOException {
        started(this::listen);
    }

    int port() {
        return socket.getLocalPort();
    }

    /** Answers a command with these bytes from now on. */
    void serve(int code, byte[] body) {
        replies.put(code, body);
    }

    /** The body of the last request of a command since it was last asked for; null where there was none. */
    byte[] sent(int code) {
        return sent.remove(code);
    }

    private static void started(Runnable work) {
        Thread thread = new Thread(work);
        thread.setDaemon(true);
        thread.start();
    }

    private void listen() {
        while (!socket.isClosed()) {
            try {
                Socket client = socket.accept();
                started(() -> serve(client));
            } catch (IOException closed) {
                return;
            }
        }
    }

    private void serve(Socket client) {
        try (client; DataInputStream in = new DataInputStream(client.getInputStream())) {
            while (true) {
                ByteBuffer head = little(in.readNBytes(8));
                byte[] body = in.readNBytes(head.getInt() - 4);
                int code = head.getInt();
                sent.put(code, body);
                reply(client.getOutputStream(), replies.getOrDefault(code, new byte[0]));
            }
        } catch (IOException | RuntimeException gone) {
            // the client went, with a whole request or within one
        }
    }

    private static void reply(OutputStream out, byte[] body) throws IOException {
        ByteBuffer reply = little(new byte[8 + body.length]);
        out.write(reply.putInt(0).putInt(body.length).put(body).array());
    }

    private static ByteBuffer little(byte[] bytes) {
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }
}
