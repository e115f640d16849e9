"""Parts of Heka's bytes for new cases, and protobuf and lua_sandbox as witnesses."""
