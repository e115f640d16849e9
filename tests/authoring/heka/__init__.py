"""Parts of Heka's bytes for new cases, and protobuf as a witness."""
