import jakarta.servlet.http.*; import java.io.*; import java.nio.charset.StandardCharsets;
public class Routes extends HttpServlet {
  static String hex(String s) { StringBuilder b = new StringBuilder(); for (byte x : s.getBytes(StandardCharsets.UTF_8)) b.append(String.format("%02x", x)); return b.toString(); }
  static String raw(String s) { StringBuilder b = new StringBuilder(); for (char x : s.toCharArray()) b.append(String.format("%02x", x & 255)); return b.toString(); }
  public void doGet(HttpServletRequest q, HttpServletResponse r) throws IOException {
    String p = q.getServletPath() + (q.getPathInfo() == null ? "" : q.getPathInfo());
    r.setContentType("text/plain");
    r.getWriter().print("[[RH:" + hex(p) + ":RH]][[PH:" + raw(q.getRequestURI()) + ":PH]]");
  }
}
