package wireproof.peer;

import com.google.gson.JsonObject;

/** The answer that an exception is. */
final class Refusal {
    private Refusal() {}

    /**
     * Fills it in.
     *
     * @param classes rows of a part of an exception's line that leaves no doubt, and the class; the first that
     *     matches counts
     * @return the class
     */
    static String fill(JsonObject reply, Throwable error, String[][] classes) {
        String line = error.getClass().getSimpleName() + ": " + error.getMessage();
        String found = "other";
        for (String[] row : classes) {
            if (found.equals("other") && line.contains(row[0])) {
                found = row[1];
            }
        }
        reply.addProperty("outcome", "refused");
        reply.addProperty("class", found);
        reply.addProperty("text", line.substring(0, Math.min(line.length(), 300)));
        return found;
    }
}
