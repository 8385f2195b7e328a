import dspy

from common import API_KEY, BASE_URL, TOOLS_MODEL, run


def prompts():
    model = dspy.LM(f"openai/{TOOLS_MODEL}", api_base=BASE_URL, api_key=API_KEY, cache=False)
    assert model("Echo this") == ["Echo this"]


run("dspy", prompts)
