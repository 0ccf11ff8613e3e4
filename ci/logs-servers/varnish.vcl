vcl 4.1;
backend b { .host = "127.0.0.1"; .port = "29400"; }
sub vcl_recv { return (pass); }
