/**
 * Beam's job server for Flink on a cluster whose processes have Beam's jars on
 * their class path. The job server sends each job the jars of its own class
 * path, 150 MB that take longer than most jobs: here it finds none.
 */
final class ThinJobServer {
  public static void main(String[] args) throws Exception {
    System.setProperty("java.class.path", "");
    org.apache.beam.runners.flink.FlinkJobServerDriver.main(args);
  }
}
