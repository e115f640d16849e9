module wireproof/peer

go 1.24

require (
	github.com/gogo/protobuf v1.0.0
	github.com/mozilla-services/heka v0.10.0
)

require (
	github.com/bbangert/toml v0.0.0-00010101000000-000000000000 // indirect
	github.com/google/uuid v1.0.0 // indirect
	github.com/pborman/uuid v1.2.1 // indirect
	github.com/rafrombrc/go-notify v0.0.0-20130215201805-e3ddb616eea9 // indirect
	golang.org/x/tools v0.24.0 // indirect
)

replace github.com/bbangert/toml => ./_toml

tool golang.org/x/tools/cmd/goyacc
