// Command kfake runs the fake cluster of franz-go with one broker, on the port of its argument.
package main

import (
	"log"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/twmb/franz-go/pkg/kfake"
)

func main() {
	port, err := strconv.Atoi(os.Args[1])
	if err != nil {
		log.Fatalf("the port is not a number: %v", err)
	}
	cleaner := kfake.BrokerConfigs(map[string]string{"log.cleaner.backoff.ms": "300"})
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.Ports(port), cleaner)
	if err != nil {
		log.Fatalf("kfake does not start: %v", err)
	}
	defer cluster.Close()
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, os.Interrupt, syscall.SIGTERM)
	<-ended
}
