package wireproof.peer;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/** An Iggy server over HTTP on a free port of the loopback (iggy.md, section 8). */
final class Web {
    private final HttpServer server;
    private volatile byte[] served = new byte[0];
    private volatile int status = 200;
    private volatile byte[] posted;

    Web() throws IOException {
        System.setProperty("sun.net.httpserver.nodelay", "true"); // else each reply waits 40 ms for an acknowledgement
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", this::answer);
        server.start();
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    /** Answers a GET with this status and body from now on. */
    void serve(int status, byte[] body) {
        this.status = status;
        served = body;
    }

    /** The body of the last POST since it was last asked for; null where there was none. */
    byte[] posted() {
        byte[] body = posted;
        posted = null;
        return body;
    }

    private void answer(HttpExchange exchange) throws IOException {
        byte[] asked = exchange.getRequestBody().readAllBytes();
        boolean sent = exchange.getRequestMethod().equals("POST");
        if (sent) {
            posted = asked;
        }
        byte[] body = sent ? new byte[0] : served;
        exchange.getResponseHeaders().add("Content-Type", "application/json");
        exchange.sendResponseHeaders(sent ? 201 : status, body.length == 0 ? -1 : body.length); // 0 would be "chunked"
        exchange.getResponseBody().write(body);
        exchange.close();
    }
}
