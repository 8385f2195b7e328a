import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.core.http.StreamResponse;
import com.openai.models.chat.completions.ChatCompletionChunk;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import com.openai.models.responses.ResponseCreateParams;
import dev.langchain4j.agent.tool.P;
import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.langchain4j.model.openai.OpenAiChatModel;
import dev.langchain4j.model.openai.OpenAiEmbeddingModel;
import dev.langchain4j.model.openai.OpenAiStreamingChatModel;
import dev.langchain4j.service.AiServices;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.document.MetadataMode;
import org.springframework.ai.openai.OpenAiChatOptions;
import org.springframework.ai.openai.OpenAiEmbeddingOptions;
import org.springframework.ai.openai.api.OpenAiApi;

/** Drives the Java client that CLIENT names, or all. Prints each check as one JSON line: {client, version, check, error}. */
public final class Clients {
  private static final String BASE_URL = System.getenv("PARLANCE_BASE_URL");
  private static final String API_KEY = System.getenv("PARLANCE_API_KEY");
  private static final String TOOLS_MODEL = "scripted-tools";
  private static boolean failed = false;

  public static class Weather {
    @Tool("Current weather of a city.")
    @org.springframework.ai.tool.annotation.Tool(name = "get_weather", description = "Current weather of a city.")
    public String get_weather(@P("city") String city) {
      return "18 degrees in " + city;
    }
  }

  interface Assistant {
    String chat(String message);
  }

  private static void expect(String found, String wanted) {
    if (!found.contains(wanted)) throw new AssertionError("found " + found + " in place of " + wanted);
  }

  private static void check(String client, String name, Callable<String> work, String wanted) {
    String chosen = System.getenv().getOrDefault("CLIENT", client);
    if (!chosen.equals(client)) return;
    String error = "null";
    try {
      expect(work.call(), wanted);
    } catch (Throwable failure) {
      failure.printStackTrace();
      error = '"' + failure.toString().replace("\\", "/").replace("\"", "'").replaceAll("\\s+", " ") + '"';
      failed = true;
    }
    String version = System.getProperty("version." + client);
    System.out.printf("{\"client\":\"%s\",\"version\":\"%s\",\"check\":\"%s\",\"error\":%s}%n", client, version, name, error);
  }

  private static void langChain4j() {
    String client = "langchain4j-open-ai";
    var model = OpenAiChatModel.builder().baseUrl(BASE_URL).apiKey(API_KEY).modelName(TOOLS_MODEL).build();
    check(client, "chats", () -> model.chat("Echo this"), "Echo this");
    check(client, "streams", () -> {
      var streaming = OpenAiStreamingChatModel.builder().baseUrl(BASE_URL).apiKey(API_KEY).modelName(TOOLS_MODEL).build();
      var text = new CompletableFuture<String>();
      streaming.chat("Echo this", new StreamingChatResponseHandler() {
        @Override
        public void onPartialResponse(String partial) {}

        @Override
        public void onCompleteResponse(ChatResponse response) {
          text.complete(response.aiMessage().text());
        }

        @Override
        public void onError(Throwable failure) {
          text.completeExceptionally(failure);
        }
      });
      return text.get(60, TimeUnit.SECONDS);
    }, "Echo this");
    check(client, "calls a tool and answers as a service", () -> {
      var assistant = AiServices.builder(Assistant.class).chatModel(model).tools(new Weather()).build();
      return assistant.chat("How is the weather in Paris?");
    }, "18 degrees");
    check(client, "embeds", () -> {
      var embedding = OpenAiEmbeddingModel.builder().baseUrl(BASE_URL).apiKey(API_KEY).modelName("text-embedding-3-small").build();
      return String.valueOf(embedding.embed("A cat.").content().dimension());
    }, "384");
  }

  private static void springAi() {
    String client = "spring-ai-openai";
    // Spring AI adds the /v1 itself.
    var api = OpenAiApi.builder().baseUrl(BASE_URL.replaceAll("/v1$", "")).apiKey(API_KEY).build();
    var options = OpenAiChatOptions.builder().model(TOOLS_MODEL).build();
    var model = org.springframework.ai.openai.OpenAiChatModel.builder().openAiApi(api).defaultOptions(options).build();
    var chat = ChatClient.create(model);
    check(client, "chats", () -> chat.prompt("Echo this").call().content(), "Echo this");
    check(client, "streams", () -> String.join("", chat.prompt("Echo this").stream().content().collectList().block()), "Echo this");
    check(client, "calls a tool and answers with its result",
        () -> chat.prompt("How is the weather in Paris?").tools(new Weather()).call().content(), "18 degrees");
    check(client, "embeds", () -> {
      var asked = OpenAiEmbeddingOptions.builder().model("text-embedding-3-small").build();
      var embedding = new org.springframework.ai.openai.OpenAiEmbeddingModel(api, MetadataMode.EMBED, asked);
      return String.valueOf(embedding.embed("A cat.").length);
    }, "384");
  }

  private static void openAi() {
    String client = "openai-java";
    var openai = OpenAIOkHttpClient.builder().baseUrl(BASE_URL).apiKey(API_KEY).build();
    var asked = ChatCompletionCreateParams.builder().model(TOOLS_MODEL).addUserMessage("Echo this").build();
    check(client, "streams", () -> {
      var text = new StringBuilder();
      try (StreamResponse<ChatCompletionChunk> chunks = openai.chat().completions().createStreaming(asked)) {
        chunks.stream().flatMap(chunk -> chunk.choices().stream())
            .forEach(choice -> choice.delta().content().ifPresent(text::append));
      }
      return text.toString();
    }, "Echo this");
    check(client, "answers by responses", () -> {
      var params = ResponseCreateParams.builder().model(TOOLS_MODEL).input("Echo this").build();
      return openai.responses().create(params).output().toString();
    }, "Echo this");
  }

  public static void main(String[] arguments) {
    langChain4j();
    springAi();
    openAi();
    System.exit(failed ? 1 : 0);
  }
}
