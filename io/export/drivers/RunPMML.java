import java.io.File;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jpmml.evaluator.Evaluator;
import org.jpmml.evaluator.EvaluatorUtil;
import org.jpmml.evaluator.FieldValue;
import org.jpmml.evaluator.InputField;
import org.jpmml.evaluator.LoadingModelEvaluatorBuilder;
import org.jpmml.evaluator.OutputField;
import org.jpmml.evaluator.TargetField;

/** Prints what models predict for the rows of files, by the models beside them: a line each. */
class RunPMML {
    public static void main(String[] args) throws Exception {
        StringBuilder out = new StringBuilder();
        for (String path : args) {
            run(Path.of(path).toAbsolutePath(), out);
        }
        System.out.print(out);
    }

    static void run(Path path, StringBuilder out) throws Exception {
        File model = path.resolveSibling("model.pmml").toFile();
        Evaluator evaluator = new LoadingModelEvaluatorBuilder().load(model).build();
        evaluator.verify();
        List<? extends InputField> inputs = evaluator.getInputFields();
        TargetField target = evaluator.getTargetFields().get(0);
        List<String> classes = new ArrayList<>();
        for (Object category : target.getCategories()) {
            classes.add((String) category);
        }
        List<String> outputs = new ArrayList<>(); // leaf, probabilities, tests, cost, perhaps path
        for (OutputField field : evaluator.getOutputFields()) {
            if (field.getDepth() == 0 && field.isFinalResult()) {
                outputs.add(field.getName());
            }
        }
        for (String line : Files.readAllLines(path, StandardCharsets.US_ASCII)) {
            String[] cells = line.split("\t", -1);
            Map<String, FieldValue> row = new LinkedHashMap<>();
            for (int i = 0; i < inputs.size(); i++) {
                row.put(inputs.get(i).getName(), inputs.get(i).prepare(value(cells[i])));
            }
            Map<String, ?> found = EvaluatorUtil.decodeAll(evaluator.evaluate(row));
            int n = classes.size();
            out.append(found.get(outputs.get(0))).append(' ').append(found.get(outputs.get(n + 1))).append(' ');
            out.append(found.get(outputs.get(n + 2))).append(" =").append(escaped((String) found.get(target.getName())));
            for (int k = 0; k < n; k++) {
                out.append(' ').append(found.get(outputs.get(k + 1)));
            }
            if (outputs.size() > n + 3) {
                String way = (String) found.get(outputs.get(n + 3));
                out.append(" =").append(escaped(way));
            }
            out.append('\n');
        }
    }

    static String escaped(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    static Object value(String cell) {
        switch (cell) {
            case "?": case "":
                return null;
            case "inf":
                return Double.POSITIVE_INFINITY;
            case "-inf":
                return Double.NEGATIVE_INFINITY;
            case "nan":
                return Double.NaN;
            default:
                return cell.startsWith("=")
                    ? URLDecoder.decode(cell.substring(1), StandardCharsets.UTF_8)
                    : (Object) Double.valueOf(cell);
        }
    }
}
