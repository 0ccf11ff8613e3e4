require 'sinatra/base'
class Routes < Sinatra::Base
  set :environment, :production
  set :show_exceptions, false
  get(/(.*)/m) { |route| content_type 'text/plain'; "[[RH:#{route.b.unpack1('H*')}:RH]][[PH:#{request.env['REQUEST_URI'].to_s.unpack1('H*')}:PH]]" }
end
run Routes
