module example.com/adapter

go 1.22
