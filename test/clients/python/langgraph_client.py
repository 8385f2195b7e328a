from langchain_openai import ChatOpenAI
from langgraph.prebuilt import create_react_agent
from langgraph_supervisor import create_supervisor

import common
from common import API_KEY, BASE_URL, TOOLS_MODEL, run


def supervises_an_agent_with_a_tool():
    model = ChatOpenAI(model=TOOLS_MODEL, base_url=BASE_URL, api_key=API_KEY)
    expert = create_react_agent(model=model, tools=[common.get_weather], name="weather_expert")
    team = create_supervisor([expert], model=model, prompt="You lead a team.").compile()
    outcome = team.invoke({"messages": [{"role": "user", "content": "How is the weather in Paris?"}]})
    assert any("18 degrees" in str(message.content) for message in outcome["messages"])


run("langgraph-supervisor", supervises_an_agent_with_a_tool)
