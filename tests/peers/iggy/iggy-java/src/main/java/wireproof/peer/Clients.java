package wireproof.peer;

import com.google.gson.JsonObject;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.apache.iggy.client.blocking.MessagesClient;
import org.apache.iggy.client.blocking.http.IggyHttpClient;
import org.apache.iggy.client.blocking.tcp.IggyTcpClient;
import org.apache.iggy.consumergroup.Consumer;
import org.apache.iggy.exception.IggyServerException;
import org.apache.iggy.identifier.StreamId;
import org.apache.iggy.identifier.TopicId;
import org.apache.iggy.message.Message;
import org.apache.iggy.message.Partitioning;
import org.apache.iggy.message.PolledMessages;
import org.apache.iggy.message.PollingStrategy;
import org.apache.iggy.serde.BytesSerializer;

/** The library's two clients, each at a server of this driver. */
final class Clients {
    private static final StreamId STREAM = StreamId.of(1L);
    private static final TopicId TOPIC = TopicId.of("sample");

    private final Wire wire = new Wire();
    private final Web web = new Web();
    private final MessagesClient overTcp = IggyTcpClient.builder().host("127.0.0.1").port(wire.port())
            .credentials("iggy", "iggy").buildAndLogin().messages();
    private final MessagesClient overHttp = new IggyHttpClient(web.url()).messages();

    Clients() throws IOException {}

    /** Loads what a first request over HTTP needs, so that no case's time pays for it. */
    void warm() {
        overHttp.sendMessages(STREAM, TOPIC, Partitioning.balanced(), List.of(Message.of("warm")));
        web.posted();
    }

    /** What the HTTP client makes of a body. */
    PolledMessages polled(byte[] body) {
        web.serve(200, body);
        return poll(overHttp);
    }

    /** What the HTTP client throws for a reply of status 400 with this body; null if it throws no error of a server. */
    IggyServerException error(byte[] body) {
        web.serve(400, body);
        try {
            poll(overHttp);
        } catch (IggyServerException error) {
            return error;
        }
        return null;
    }

    /** The body that the HTTP client posts for a send. */
    byte[] posted(JsonObject value) {
        overHttp.sendMessages(STREAM, TOPIC, Asked.partitioning(value), Asked.messages(value));
        return web.posted();
    }

    /** The body that the TCP client sends. */
    byte[] sent(JsonObject value) throws IOException {
        return sent(value, Asked.messages(value));
    }

    /** The same where the messages are those of a poll: as a program sends them that moves messages. */
    byte[] resent(JsonObject value) throws IOException {
        List<Message> messages = Asked.messages(value);
        ByteBuf body = Unpooled.buffer().writeIntLE(0).writeLongLE(0).writeIntLE(messages.size());
        messages.forEach(message -> body.writeBytes(BytesSerializer.toBytes(message)));
        wire.serve(Wire.POLL, bytes(body));
        return sent(value, poll(overTcp).messages());
    }

    private byte[] sent(JsonObject value, List<Message> messages) throws IOException {
        StreamId stream = Asked.place(value.getAsJsonObject("stream"), StreamId::of, StreamId::of);
        TopicId topic = Asked.place(value.getAsJsonObject("topic"), TopicId::of, TopicId::of);
        overTcp.sendMessages(stream, topic, Asked.partitioning(value), messages);
        return wire.sent(Wire.SEND);
    }

    private static PolledMessages poll(MessagesClient client) {
        return client.pollMessages(
                STREAM, TOPIC, Optional.of(0L), Consumer.of(1L), PollingStrategy.next(), 10L, false);
    }

    /** What a buffer of the library holds. */
    static byte[] bytes(ByteBuf buffer) {
        byte[] bytes = new byte[buffer.readableBytes()];
        buffer.readBytes(bytes);
        return bytes;
    }
}
