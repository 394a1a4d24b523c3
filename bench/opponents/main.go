// The opponents of the benchmarks: informers of client-go, and a controller on controller-runtime. Each run of this program is
// one opponent. It is told what to do by lines of JSON on its input, and answers each with a line of JSON.
package main

import (
	"flag"
	"fmt"
	"os"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

type options struct {
	kubeconfig  string
	flavour     string
	resource    string
	namespace   string
	strip       bool
	concurrency int
}

func main() {
	if len(os.Args) < 2 {
		fail(fmt.Errorf("usage: opponents follow|reconcile [flags]"))
	}
	var of options
	flags := flag.NewFlagSet(os.Args[1], flag.ExitOnError)
	flags.StringVar(&of.kubeconfig, "kubeconfig", "", "how to reach the server")
	flags.StringVar(&of.flavour, "flavour", "dynamic", "dynamic, typed or protobuf; merge or apply")
	flags.StringVar(&of.resource, "resource", "widgets", "widgets or pods")
	flags.StringVar(&of.namespace, "namespace", "bench", "where its objects are")
	flags.BoolVar(&of.strip, "strip", false, "keep no managed fields")
	flags.IntVar(&of.concurrency, "concurrency", 8, "reconciles at once")
	if err := flags.Parse(os.Args[2:]); err != nil {
		fail(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", of.kubeconfig)
	if err != nil {
		fail(err)
	}
	// Nobody is throttled by its own client: what is measured is what an event costs.
	config.QPS = -1
	switch os.Args[1] {
	case "follow":
		err = follow(config, of)
	case "reconcile":
		err = reconcile(config, of)
	default:
		err = fmt.Errorf("no such opponent: %s", os.Args[1])
	}
	if err != nil {
		fail(err)
	}
}

func withContent(config *rest.Config, flavour string) *rest.Config {
	config = rest.CopyConfig(config)
	// Said in so many words: clients of built-in kinds prefer protobuf when nothing is said.
	config.ContentType = "application/json"
	config.AcceptContentTypes = "application/json"
	if flavour == "protobuf" {
		config.ContentType = "application/vnd.kubernetes.protobuf"
		config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	}
	return config
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
