// Handlers that answer with the route and the text that they get, in hex, and a proxy.
package main

import (
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
)

func echo(w http.ResponseWriter, r *http.Request) {
	fmt.Fprintf(w, "[[RH:%x:RH]][[PH:%x:PH]]", r.URL.Path, r.RequestURI)
}

func main() {
	mux := http.NewServeMux()
	mux.HandleFunc("/", echo)
	up, _ := url.Parse("http://127.0.0.1:29000/")
	go http.ListenAndServe("127.0.0.1:29702", mux)
	go http.ListenAndServe("127.0.0.1:29704", httputil.NewSingleHostReverseProxy(up))
	http.ListenAndServe("127.0.0.1:29701", http.HandlerFunc(echo))
}
