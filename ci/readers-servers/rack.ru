hex = ->(text) { text.to_s.unpack1('H*') }
run ->(env) { [200, { 'content-type' => 'text/plain' }, ["[[RH:#{hex[env['SCRIPT_NAME'].to_s + env['PATH_INFO'].to_s]}:RH]][[PH:#{hex[env['REQUEST_URI']]}:PH]]"]] }
