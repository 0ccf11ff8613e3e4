// A servlet that answers with the route and the text that it gets, in hex, in three modes of compliance.
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import javax.servlet.http.*;
import org.eclipse.jetty.http.HttpCompliance;
import org.eclipse.jetty.server.*;
import org.eclipse.jetty.servlet.*;

public class Jetty extends HttpServlet {
  static String hex(String text) {
    StringBuilder hex = new StringBuilder();
    for (byte one : text.getBytes(StandardCharsets.UTF_8)) hex.append(String.format("%02x", one));
    return hex.toString();
  }

  public void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
    String route = request.getServletPath() + (request.getPathInfo() == null ? "" : request.getPathInfo());
    response.setContentType("text/plain");
    response.getWriter().print("[[RH:" + hex(route) + ":RH]][[PH:" + hex(request.getRequestURI()) + ":PH]]");
  }

  public static void main(String[] arguments) throws Exception {
    Server server = new Server();
    int port = 29651;
    for (HttpCompliance compliance : new HttpCompliance[] {HttpCompliance.RFC7230, HttpCompliance.RFC7230_NO_AMBIGUOUS_URIS, HttpCompliance.LEGACY}) {
      HttpConfiguration configuration = new HttpConfiguration();
      configuration.setRequestHeaderSize(32768);
      ServerConnector connector = new ServerConnector(server, new HttpConnectionFactory(configuration, compliance));
      connector.setHost("127.0.0.1");
      connector.setPort(port++);
      server.addConnector(connector);
    }
    ServletContextHandler context = new ServletContextHandler();
    context.setContextPath("/");
    context.addServlet(new ServletHolder(new Jetty()), "/*");
    server.setHandler(context);
    server.start();
    server.join();
  }
}
