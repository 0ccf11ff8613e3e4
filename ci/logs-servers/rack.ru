log = File.open('ROOT/rack-access.log', 'a')
log.sync = true
use Rack::CommonLogger, log
run ->(env) { [200, { 'content-type' => 'text/plain' }, ['ok']] }
