require 'webrick'
file = File.open('ROOT/webrick-access.log', 'a')
file.sync = true
server = WEBrick::HTTPServer.new(BindAddress: '127.0.0.1', Port: 29415, AccessLog: [[file, WEBrick::AccessLog::COMBINED_LOG_FORMAT]])
server.mount_proc('/') { |_, response| response.body = 'ok' }
trap('TERM') { server.shutdown }
server.start
