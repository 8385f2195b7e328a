import ai.koog.agents.core.agent.AIAgent;
import ai.koog.agents.core.tools.ToolRegistry;
import ai.koog.agents.core.tools.annotations.LLMDescription;
import ai.koog.agents.core.tools.annotations.Tool;
import ai.koog.agents.core.tools.reflect.ToolSet;
import ai.koog.prompt.executor.clients.ConnectionTimeoutConfig;
import ai.koog.prompt.executor.clients.openai.OpenAIClientSettings;
import ai.koog.prompt.executor.clients.openai.OpenAIModels;
import ai.koog.prompt.executor.model.PromptExecutor;

/** Drives Koog, whose dependencies conflict with those of other Java clients. Prints each check as one JSON line. */
public final class Koog {
  private static final String CLIENT = "koog-agents-jvm";
  private static boolean failed = false;

  public static class Weather implements ToolSet {
    @Tool(customName = "get_weather")
    @LLMDescription("Current weather of a city.")
    public String weather(@LLMDescription("The city") String city) {
      return "18 degrees in " + city;
    }
  }

  /** Makes an agent with one of Koog's own models, whose name is an alias here. */
  private static AIAgent<String, String> agent() {
    String origin = System.getenv("PARLANCE_BASE_URL").replaceAll("/v1$", "");
    // Java has no defaults of parameters: these are Koog's.
    var settings = new OpenAIClientSettings(origin, new ConnectionTimeoutConfig(), "v1/chat/completions", "v1/responses",
        "v1/embeddings", "v1/moderations", "v1/models");
    return AIAgent.builder()
        .promptExecutor(PromptExecutor.builder().openAI(System.getenv("PARLANCE_API_KEY"), settings).build())
        .llmModel(OpenAIModels.Chat.GPT4_1)
        .toolRegistry(ToolRegistry.builder().tools(new Weather()).build())
        .build();
  }

  private static void check(String name, String question, String wanted) {
    String error = "null";
    try {
      String answer = agent().run(question);
      if (!answer.contains(wanted)) throw new AssertionError(answer + " in place of " + wanted);
    } catch (Throwable failure) {
      failure.printStackTrace();
      error = '"' + failure.toString().replace("\\", "/").replace("\"", "'").replaceAll("\\s+", " ") + '"';
      failed = true;
    }
    String version = System.getProperty("version." + CLIENT);
    System.out.printf("{\"client\":\"%s\",\"version\":\"%s\",\"check\":\"%s\",\"error\":%s}%n", CLIENT, version, name, error);
  }

  public static void main(String[] arguments) {
    check("answers as an agent", "Echo this", "Echo this");
    check("calls a tool and answers with its result", "How is the weather in Paris?", "18 degrees");
    System.exit(failed ? 1 : 0);
  }
}
