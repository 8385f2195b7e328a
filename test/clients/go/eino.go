package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	einoembedding "github.com/cloudwego/eino-ext/components/embedding/openai"
	einomodel "github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"
)

type place struct {
	City string `json:"city"`
}

// newAgent makes an agent of Eino with the weather as its tool.
func newAgent(ctx context.Context) (*react.Agent, error) {
	model, err := einomodel.NewChatModel(ctx, &einomodel.ChatModelConfig{BaseURL: baseURL, APIKey: apiKey, Model: toolsModel})
	if err != nil {
		return nil, err
	}
	weather, err := utils.InferTool("get_weather", "Current weather of a city.",
		func(_ context.Context, input place) (string, error) { return "18 degrees in " + input.City, nil })
	if err != nil {
		return nil, err
	}
	tools := compose.ToolsNodeConfig{Tools: []tool.BaseTool{weather}}
	return react.NewAgent(ctx, &react.AgentConfig{ToolCallingModel: model, ToolsConfig: tools})
}

func eino() {
	const module = "github.com/cloudwego/eino-ext/components/model/openai"
	ask := func(text string) []*schema.Message { return []*schema.Message{schema.UserMessage(text)} }
	check(module, "streams as an agent", func(ctx context.Context) error {
		agent, err := newAgent(ctx)
		if err != nil {
			return err
		}
		stream, err := agent.Stream(ctx, ask("Echo this"))
		if err != nil {
			return err
		}
		defer stream.Close()
		text := ""
		for {
			chunk, err := stream.Recv()
			if errors.Is(err, io.EOF) {
				return expect(text, "Echo this")
			}
			if err != nil {
				return err
			}
			text += chunk.Content
		}
	})
	check(module, "calls a tool and answers with its result", func(ctx context.Context) error {
		agent, err := newAgent(ctx)
		if err != nil {
			return err
		}
		answer, err := agent.Generate(ctx, ask("How is the weather in Paris?"))
		if err != nil {
			return err
		}
		return expect(answer.Content, "18 degrees")
	})
	check(module, "embeds", func(ctx context.Context) error {
		embedder, err := einoembedding.NewEmbedder(ctx, &einoembedding.EmbeddingConfig{
			BaseURL: baseURL, APIKey: apiKey, Model: "text-embedding-3-small",
		})
		if err != nil {
			return err
		}
		vectors, err := embedder.EmbedStrings(ctx, []string{"A cat."})
		if err != nil {
			return err
		}
		return expect(fmt.Sprint(len(vectors[0])), "384")
	})
}
