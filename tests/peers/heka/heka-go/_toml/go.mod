module github.com/bbangert/toml

go 1.24
