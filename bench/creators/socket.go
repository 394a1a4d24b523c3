package main

import (
	"io"
	"net"
	"syscall"
	"time"
)

// A connection whose calls block their thread. Those of Go's own wait in a thread that looks after all of them: one switch more for each
// answer.
type socket struct {
	net.Conn
	handle int
}

func openSocket(host string) (*socket, error) {
	at, err := net.ResolveTCPAddr("tcp4", host)
	if err != nil {
		return nil, err
	}
	handle, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	opened := &socket{handle: handle}
	if err = syscall.SetsockoptInt(handle, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1); err == nil {
		err = syscall.Connect(handle, &syscall.SockaddrInet4{Port: at.Port, Addr: [4]byte(at.IP.To4())})
	}
	if err != nil {
		opened.Close()
		return nil, err
	}
	return opened, nil
}

func (s *socket) Read(into []byte) (int, error) {
	n, err := again(func() (int, error) { return syscall.Read(s.handle, into) })
	if n == 0 && err == nil {
		return 0, io.EOF
	}
	return n, err
}

func (s *socket) Write(from []byte) (int, error) {
	for sent := 0; sent < len(from); {
		n, err := again(func() (int, error) { return syscall.Write(s.handle, from[sent:]) })
		if err != nil {
			return sent, err
		}
		sent += n
	}
	return len(from), nil
}

func (s *socket) Close() error {
	return syscall.Close(s.handle)
}

// The end of a TLS connection sets one; whoever ends it does not wait.
func (s *socket) SetWriteDeadline(time.Time) error {
	return nil
}

// A signal may end a call before it did anything.
func again(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if err != syscall.EINTR {
			return max(n, 0), err
		}
	}
}
