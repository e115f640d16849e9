package wireproof.peer;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonObject;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** The contract's frames on stdin and stdout: u32 header length, JSON header, the bytes that its "blob" announces. */
final class Frames {
    static final Gson JSON = new GsonBuilder().serializeNulls().disableHtmlEscaping().create();

    private final DataInputStream in = new DataInputStream(new BufferedInputStream(System.in));
    private final DataOutputStream out = new DataOutputStream(new BufferedOutputStream(System.out));

    /** A header and its bytes, which are empty where it announces none. */
    record Frame(JsonObject head, byte[] blob) {}

    /** The next frame; throws EOFException where stdin has ended. */
    Frame take() throws IOException {
        if (in.available() == 0) {
            out.flush();
        }
        JsonObject head = JSON.fromJson(new String(take(in.readInt()), StandardCharsets.UTF_8), JsonObject.class);
        return new Frame(head, head.has("blob") ? take(head.get("blob").getAsInt()) : new byte[0]);
    }

    private byte[] take(int length) throws IOException {
        byte[] bytes = new byte[length];
        in.readFully(bytes);
        return bytes;
    }

    /** @param blob the bytes of an encoding, or null */
    void send(JsonObject head, byte[] blob) throws IOException {
        if (blob != null) {
            head.addProperty("blob", blob.length);
        }
        byte[] bytes = JSON.toJson(head).getBytes(StandardCharsets.UTF_8);
        out.writeInt(bytes.length);
        out.write(bytes);
        out.write(blob == null ? new byte[0] : blob);
    }
}
