module clustersim.example/client

go 1.18
