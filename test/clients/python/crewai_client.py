import os

from common import API_KEY, BASE_URL, TOOLS_MODEL, run

os.environ.update(CREWAI_DISABLE_TELEMETRY="true", OTEL_SDK_DISABLED="true")

from crewai import LLM, Agent, Crew, Task  # noqa: E402


def works_on_a_task_as_a_crew():
    model = LLM(model=f"openai/{TOOLS_MODEL}", base_url=BASE_URL, api_key=API_KEY)
    agent = Agent(role="Helper", goal="Repeat", backstory="Repeats texts.", llm=model)
    task = Task(description="Echo this", expected_output="A text.", agent=agent)
    assert "Echo this" in str(Crew(agents=[agent], tasks=[task]).kickoff())


run("crewai", works_on_a_task_as_a_crew)
