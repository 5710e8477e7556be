import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Date;
import java.sql.Timestamp;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** Runs spark.sql, which makes a view, on the rows of spark.txt. */
public class RunSQL {
    public static void main(String[] args) throws Exception {
        SparkSession spark = SparkSession.builder().master("local[1]").appName("verify")
            .config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "1")
            .config("spark.sql.session.timeZone", "America/New_York").config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1").getOrCreate();
        List<String> lines = Files.readAllLines(Path.of("spark.txt"));
        String[] columns = lines.get(0).split("\t");
        StructType schema = new StructType();
        for (String c : columns) {
            int colon = c.lastIndexOf(':');
            schema = schema.add(text(c.substring(0, colon)), org.apache.spark.sql.types.DataType.fromDDL(c.substring(colon + 1)));
        }
        List<Row> rows = new ArrayList<>();
        for (String line : lines.subList(2, lines.size())) {
            String[] cells = line.split("\t", -1);
            Object[] values = new Object[cells.length];
            for (int i = 0; i < cells.length; i++) {
                values[i] = value(cells[i], schema.fields()[i].dataType());
            }
            rows.add(RowFactory.create(values));
        }
        spark.createDataFrame(rows, schema).createOrReplaceTempView("input_rows");
        spark.sql(Files.readString(Path.of("spark.sql")));
        StringBuilder out = new StringBuilder();
        for (Row row : spark.sql(text(lines.get(1))).collectAsList()) {
            for (int i = 0; i < row.length(); i++) {
                Object v = row.get(i);
                out.append(i == 0 ? "" : "\t").append(v instanceof String s ? URLEncoder.encode(s, StandardCharsets.UTF_8).replace("+", "%20") : v);
            }
            out.append('\n');
        }
        System.out.print(out);
        spark.stop();
    }

    static String text(String escaped) { return URLDecoder.decode(escaped.replace("+", "%2B"), StandardCharsets.UTF_8); }

    static Object value(String cell, org.apache.spark.sql.types.DataType type) {
        if (cell.equals("?")) return null;
        String s = cell.startsWith("=") ? text(cell.substring(1)) : cell;
        if (type.equals(DataTypes.LongType)) return Long.parseLong(s);
        if (type.equals(DataTypes.DateType)) return Date.valueOf(s);
        if (type.equals(DataTypes.TimestampType)) return Timestamp.from(java.time.Instant.parse(s.replace(' ', 'T') + "Z"));
        if (type.equals(DataTypes.TimestampNTZType)) return java.time.LocalDateTime.parse(s.replace(' ', 'T'));
        if (type.equals(DataTypes.StringType)) return s;
        return switch (s) {
            case "nan" -> Double.NaN;
            case "inf" -> Double.POSITIVE_INFINITY;
            case "-inf" -> Double.NEGATIVE_INFINITY;
            default -> Double.parseDouble(s);
        };
    }
}
