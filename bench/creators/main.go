// Clients that create objects as fast as a server answers, each on a connection of its own. While one client waits, nothing else happens:
// whatever it does between an answer and its next request is part of the time that is measured, and should be little. So there is no
// library for HTTP here, and calls block. It is told what to do by lines of JSON on its input, and answers each with a line of JSON.
package main

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// How the server is reached: as the other processes of the benchmarks are told it.
type access struct {
	URL      string `json:"url"`
	CaFile   string `json:"caFile"`
	CertFile string `json:"certFile"`
	KeyFile  string `json:"keyFile"`
}

type order struct {
	Clients int     `json:"clients"`
	Ms      float64 `json:"ms"`
	Path    string  `json:"path"`
	// The object, with a percent sign where its name belongs.
	Body string `json:"body"`
}

type result struct {
	Count int64   `json:"count"`
	Ms    float64 `json:"ms"`
}

func main() {
	if len(os.Args) != 2 {
		fail(fmt.Errorf("usage: creators ACCESS"))
	}
	if err := serve(os.Args[1]); err != nil {
		fail(err)
	}
}

func serve(given string) error {
	var to access
	if err := json.Unmarshal([]byte(given), &to); err != nil {
		return err
	}
	config, host, err := tlsConfig(to)
	if err != nil {
		return err
	}
	answer(struct{}{})
	// Names go on from order to order: none is used twice.
	var names atomic.Int64
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		var told order
		if err := json.Unmarshal(input.Bytes(), &told); err != nil {
			return err
		}
		done, err := create(told, config, host, &names)
		if err != nil {
			return err
		}
		answer(done)
	}
	return input.Err()
}

func create(told order, config *tls.Config, host string, names *atomic.Int64) (result, error) {
	clients := make([]*creator, told.Clients)
	for i := range clients {
		one, err := openCreator(config, host, told)
		if err != nil {
			return result{}, err
		}
		defer one.connection.Close()
		clients[i] = one
	}
	began := time.Now()
	until := began.Add(time.Duration(told.Ms * float64(time.Millisecond)))
	var count atomic.Int64
	var all sync.WaitGroup
	failures := make(chan error, len(clients))
	for _, one := range clients {
		all.Go(func() {
			for time.Now().Before(until) {
				if err := one.create(names.Add(1)); err != nil {
					failures <- err
					return
				}
				count.Add(1)
			}
		})
	}
	all.Wait()
	ms := float64(time.Since(began)) / float64(time.Millisecond)
	select {
	case err := <-failures:
		return result{}, err
	default:
		return result{Count: count.Load(), Ms: ms}, nil
	}
}

func tlsConfig(to access) (*tls.Config, string, error) {
	host := strings.TrimPrefix(to.URL, "https://")
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		return nil, "", err
	}
	pair, err := tls.LoadX509KeyPair(to.CertFile, to.KeyFile)
	if err != nil {
		return nil, "", err
	}
	authorities, err := os.ReadFile(to.CaFile)
	if err != nil {
		return nil, "", err
	}
	trusted := x509.NewCertPool()
	if !trusted.AppendCertsFromPEM(authorities) {
		return nil, "", fmt.Errorf("no authority in %s", to.CaFile)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: trusted, ServerName: name}, host, nil
}

func answer(value any) {
	text, err := json.Marshal(value)
	if err != nil {
		fail(err)
	}
	fmt.Println(string(text))
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
