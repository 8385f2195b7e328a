// Drives the Go client that CLIENT names, or all. Prints each check as one JSON line: {client, version, check, error}.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	goopenai "github.com/sashabaranov/go-openai"
	"github.com/tmc/langchaingo/llms"
	langchainopenai "github.com/tmc/langchaingo/llms/openai"
)

const toolsModel = "scripted-tools"

var (
	baseURL = os.Getenv("PARLANCE_BASE_URL")
	apiKey  = os.Getenv("PARLANCE_API_KEY")
	city    = map[string]any{
		"type":       "object",
		"properties": map[string]any{"city": map[string]any{"type": "string"}},
		"required":   []string{"city"},
	}
	failed = false
)

func expect(found, wanted string) error {
	if strings.Contains(found, wanted) {
		return nil
	}
	return fmt.Errorf("found %q in place of %q", found, wanted)
}

func check(module, name string, work func(context.Context) error) {
	if wanted := os.Getenv("CLIENT"); wanted != "" && wanted != module {
		return
	}
	report := map[string]any{"client": module, "version": versionOf(module), "check": name, "error": nil}
	if err := work(context.Background()); err != nil {
		report["error"] = err.Error()
		failed = true
	}
	line, _ := json.Marshal(report)
	fmt.Println(string(line))
}

func versionOf(module string) string {
	info, _ := debug.ReadBuildInfo()
	for _, dependency := range info.Deps {
		if dependency.Path == module {
			return strings.TrimPrefix(dependency.Version, "v")
		}
	}
	return ""
}

func openAI() {
	const module = "github.com/openai/openai-go/v3"
	client := openai.NewClient(option.WithBaseURL(baseURL), option.WithAPIKey(apiKey))
	ask := func(text string) openai.ChatCompletionNewParams {
		return openai.ChatCompletionNewParams{
			Model:    toolsModel,
			Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(text)},
		}
	}
	check(module, "streams", func(ctx context.Context) error {
		stream := client.Chat.Completions.NewStreaming(ctx, ask("Echo this"))
		answer := openai.ChatCompletionAccumulator{}
		for stream.Next() {
			answer.AddChunk(stream.Current())
		}
		if err := stream.Err(); err != nil {
			return err
		}
		return expect(answer.Choices[0].Message.Content, "Echo this")
	})
	check(module, "calls a tool and answers with its result", func(ctx context.Context) error {
		params := ask("How is the weather in Paris?")
		definition := openai.FunctionDefinitionParam{Name: "get_weather", Parameters: city}
		params.Tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(definition)}
		called, err := client.Chat.Completions.New(ctx, params)
		if err != nil {
			return err
		}
		message := called.Choices[0].Message
		call := message.ToolCalls[0]
		if err := expect(call.Function.Arguments, "Paris"); err != nil {
			return err
		}
		params.Messages = append(params.Messages, message.ToParam(), openai.ToolMessage("18 degrees", call.ID))
		answer, err := client.Chat.Completions.New(ctx, params)
		if err != nil {
			return err
		}
		return expect(answer.Choices[0].Message.Content, "18 degrees")
	})
	check(module, "continues from previous responses", func(ctx context.Context) error {
		params := responses.ResponseNewParams{Model: toolsModel}
		params.Input = responses.ResponseNewParamsInputUnion{OfString: openai.String("Echo this")}
		first, err := client.Responses.New(ctx, params)
		if err != nil {
			return err
		}
		params.PreviousResponseID = openai.String(first.ID)
		second, err := client.Responses.New(ctx, params)
		if err != nil {
			return err
		}
		return expect(second.OutputText(), "Echo this")
	})
	check(module, "embeds", func(ctx context.Context) error {
		input := openai.EmbeddingNewParamsInputUnion{OfString: openai.String("A cat.")}
		answer, err := client.Embeddings.New(ctx, openai.EmbeddingNewParams{Model: "text-embedding-3-small", Input: input})
		if err != nil {
			return err
		}
		return expect(fmt.Sprint(len(answer.Data[0].Embedding)), "384")
	})
	check(module, "reads an error", func(ctx context.Context) error {
		params := ask("Hi")
		params.Model = "absent"
		_, err := client.Chat.Completions.New(ctx, params)
		var refusal *openai.Error
		if !errors.As(err, &refusal) {
			return fmt.Errorf("no error of the API: %v", err)
		}
		return expect(refusal.Code, "model_not_found")
	})
}

func goOpenAI() {
	const module = "github.com/sashabaranov/go-openai"
	config := goopenai.DefaultConfig(apiKey)
	config.BaseURL = baseURL
	client := goopenai.NewClientWithConfig(config)
	ask := func(text string) goopenai.ChatCompletionRequest {
		messages := []goopenai.ChatCompletionMessage{{Role: "user", Content: text}}
		return goopenai.ChatCompletionRequest{Model: toolsModel, Messages: messages}
	}
	check(module, "streams", func(ctx context.Context) error {
		stream, err := client.CreateChatCompletionStream(ctx, ask("Echo this"))
		if err != nil {
			return err
		}
		defer stream.Close()
		text := ""
		for {
			chunk, err := stream.Recv()
			if err == io.EOF {
				return expect(text, "Echo this")
			}
			if err != nil {
				return err
			}
			text += chunk.Choices[0].Delta.Content
		}
	})
	check(module, "calls a tool", func(ctx context.Context) error {
		request := ask("How is the weather in Paris?")
		definition := &goopenai.FunctionDefinition{Name: "get_weather", Parameters: city}
		request.Tools = []goopenai.Tool{{Type: "function", Function: definition}}
		answer, err := client.CreateChatCompletion(ctx, request)
		if err != nil {
			return err
		}
		return expect(answer.Choices[0].Message.ToolCalls[0].Function.Arguments, "Paris")
	})
}

func langChain() {
	const module = "github.com/tmc/langchaingo"
	options := []langchainopenai.Option{
		langchainopenai.WithBaseURL(baseURL),
		langchainopenai.WithToken(apiKey),
		langchainopenai.WithModel(toolsModel),
		langchainopenai.WithEmbeddingModel("text-embedding-3-small"),
	}
	check(module, "answers", func(ctx context.Context) error {
		model, err := langchainopenai.New(options...)
		if err != nil {
			return err
		}
		text, err := llms.GenerateFromSinglePrompt(ctx, model, "Echo this")
		if err != nil {
			return err
		}
		return expect(text, "Echo this")
	})
	check(module, "streams and calls a tool", func(ctx context.Context) error {
		model, err := langchainopenai.New(options...)
		if err != nil {
			return err
		}
		tool := llms.Tool{Type: "function", Function: &llms.FunctionDefinition{Name: "get_weather", Parameters: city}}
		messages := []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "How is the weather in Paris?")}
		ignore := llms.WithStreamingFunc(func(context.Context, []byte) error { return nil })
		answer, err := model.GenerateContent(ctx, messages, llms.WithTools([]llms.Tool{tool}), ignore)
		if err != nil {
			return err
		}
		return expect(answer.Choices[0].ToolCalls[0].FunctionCall.Arguments, "Paris")
	})
	check(module, "embeds", func(ctx context.Context) error {
		model, err := langchainopenai.New(options...)
		if err != nil {
			return err
		}
		vectors, err := model.CreateEmbedding(ctx, []string{"A cat."})
		if err != nil {
			return err
		}
		return expect(fmt.Sprint(len(vectors[0])), "384")
	})
}

func anthropicClient() {
	const module = "github.com/anthropics/anthropic-sdk-go"
	origin := strings.TrimSuffix(baseURL, "/v1")
	client := anthropic.NewClient(anthropicoption.WithBaseURL(origin), anthropicoption.WithAPIKey(apiKey))
	ask := func(text string) anthropic.MessageNewParams {
		message := anthropic.NewUserMessage(anthropic.NewTextBlock(text))
		return anthropic.MessageNewParams{Model: toolsModel, MaxTokens: 100, Messages: []anthropic.MessageParam{message}}
	}
	check(module, "streams", func(ctx context.Context) error {
		stream := client.Messages.NewStreaming(ctx, ask("Echo this"))
		message := anthropic.Message{}
		for stream.Next() {
			if err := message.Accumulate(stream.Current()); err != nil {
				return err
			}
		}
		if err := stream.Err(); err != nil {
			return err
		}
		return expect(message.Content[0].Text, "Echo this")
	})
	check(module, "calls a tool", func(ctx context.Context) error {
		params := ask("How is the weather in Paris?")
		schema := anthropic.ToolInputSchemaParam{Properties: city["properties"], Required: []string{"city"}}
		params.Tools = []anthropic.ToolUnionParam{anthropic.ToolUnionParamOfTool(schema, "get_weather")}
		message, err := client.Messages.New(ctx, params)
		if err != nil {
			return err
		}
		for _, block := range message.Content {
			if block.Type == "tool_use" {
				return expect(string(block.Input), "Paris")
			}
		}
		return fmt.Errorf("no tool_use block")
	})
}

func main() {
	openAI()
	goOpenAI()
	langChain()
	anthropicClient()
	eino()
	if failed {
		os.Exit(1)
	}
}
