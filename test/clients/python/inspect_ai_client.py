import os
import tempfile

from common import API_KEY, BASE_URL, TOOLS_MODEL, run

os.environ.update(OPENAI_BASE_URL=BASE_URL, OPENAI_API_KEY=API_KEY)

from inspect_ai import Task, eval  # noqa: E402
from inspect_ai.dataset import Sample  # noqa: E402
from inspect_ai.scorer import includes  # noqa: E402


def evaluates_a_model():
    task = Task(dataset=[Sample(input="Echo this", target="Echo this")], scorer=includes())
    [log] = eval(task, model=f"openai/{TOOLS_MODEL}", log_dir=tempfile.mkdtemp(), display="none")
    assert log.status == "success", log.error
    assert log.results.scores[0].metrics["accuracy"].value == 1


run("inspect-ai", evaluates_a_model)
