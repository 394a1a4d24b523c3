package main

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// One client: a request, its whole answer, the next request.
type creator struct {
	connection *tls.Conn
	head       string
	before     string
	after      string
	request    []byte
	received   []byte
}

// Answers are as long as what was created.
const mostReceived = 64 * 1024

func openCreator(config *tls.Config, host string, told order) (*creator, error) {
	before, after, found := strings.Cut(told.Body, "%")
	if !found {
		return nil, errors.New("the body has no place for a name")
	}
	beneath, err := openSocket(host)
	if err != nil {
		return nil, err
	}
	head := "POST " + told.Path + " HTTP/1.1\r\nhost: " + host +
		"\r\naccept: application/json\r\ncontent-type: application/json\r\ncontent-length: "
	connection := tls.Client(beneath, config)
	one := &creator{connection: connection, head: head, before: before, after: after, received: make([]byte, mostReceived)}
	return one, connection.Handshake()
}

func (c *creator) create(number int64) error {
	name := "c-" + strconv.FormatInt(number, 10)
	length := len(c.before) + len(name) + len(c.after)
	c.request = strconv.AppendInt(append(c.request[:0], c.head...), int64(length), 10)
	for _, part := range []string{"\r\n\r\n", c.before, name, c.after} {
		c.request = append(c.request, part...)
	}
	if _, err := c.connection.Write(c.request); err != nil {
		return err
	}
	for size := 0; ; {
		n, err := c.connection.Read(c.received[size:])
		if err != nil {
			return err
		}
		size += n
		if got := c.received[:size]; isWhole(got) {
			if !bytes.HasPrefix(got, []byte("HTTP/1.1 201 ")) {
				return fmt.Errorf("a create was answered with %.400s", got)
			}
			return nil
		}
		if size == len(c.received) {
			return fmt.Errorf("an answer of more than %d bytes", size)
		}
	}
}

var (
	endOfHead   = []byte("\r\n\r\n")
	endOfChunks = []byte("\r\n0\r\n\r\n")
	lengthIs    = []byte("\r\ncontent-length: ")
)

// One answer is awaited at a time, so what has arrived is a part of it, or all of it.
func isWhole(got []byte) bool {
	head, body, found := bytes.Cut(got, endOfHead)
	if !found {
		return false
	}
	_, length, found := bytes.Cut(bytes.ToLower(head), lengthIs)
	if !found {
		return bytes.HasSuffix(body, endOfChunks)
	}
	digits, _, _ := bytes.Cut(length, endOfHead[:2])
	wanted, err := strconv.Atoi(string(digits))
	return err == nil && len(body) >= wanted
}
