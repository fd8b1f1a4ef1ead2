"""What the model card says beside figures: for Hugging Face's metadata, and after Mitchell et al.

Mitchell et al., "Model Cards for Model Reporting" (2019): intended and out-of-scope use, factors,
training and evaluation data, ethical considerations, caveats.
"""

from __future__ import annotations

import json
from typing import Any

_COLUMNS = ("kind", "data", "figure", "value", "samples")
_ABOUT_USE = """## Intended use

- Reading a Pai Gow Poker table from fixed cameras above it, so that a person in the surveillance
  room looks at what feltwatch points to. The users are surveillance staff and those who check and
  develop the software.
- Reading photographs of playing cards with `feltwatch detect`, and making first labels for images
  that a person then corrects.

## Out-of-scope use

- Deciding anything about a person, a payment or a dispute without a person who looks at the
  recording.
- Other games, cards or chips than those the table file names.
- Recognising people, their faces, hands or behaviour: the networks have no class for a person."""

_ABOUT_LIMITS = """## Factors and limitations

- Most training images are rendered. What the renderer does not draw (other felts, lamps, lenses,
  damaged cards) is less certain than the figures on rendered images say.
- Reading breaks where a fifth of an index is covered, in strong glare, at a third of the
  resolution and out of focus; the table of robustness has the steps.
- High stacks are undecided more often than low ones, and so are chips of colours that are alike
  in the light.
- Probabilities were fitted on rendered images; on another camera they may be too high.

## People in images

No image was collected to show a person. Rendered images show drawn arms and hands without faces.
The photographs of both public sets were taken of cards; a hand may be in them. No label says
anything of a person. Live cameras over a table do film players' and dealers' hands: whoever runs
them needs the permission that the place requires."""


def evaluations_of(card: dict[str, Any]) -> list[dict[str, Any]]:
    """The results that were measured with the weights of the card, as their hashes say."""
    own = {name: model["sha256"] for name, model in card["models"].items()}
    return [
        one
        for one in card.get("evaluations") or ()
        if one.get("weights") and one["weights"].items() <= own.items()
    ]


def front_matter(card: dict[str, Any]) -> list[str]:
    """The YAML block in front of the page that Hugging Face's hub reads."""
    results = [
        {
            "task": {"type": "object-detection"},
            "dataset": {"name": one["data"], "type": one["kind"]},
            "metrics": [{"name": one["figure"], "type": "accuracy", "value": one["value"]}],
        }
        for one in evaluations_of(card)
        if isinstance(one["value"], (int, float))
    ]
    head: dict[str, Any] = {
        "license": card["licence"].lower().removesuffix("-or-later"),
        "library_name": "openvino",
        "pipeline_tag": "object-detection",
        "tags": ["object-detection", "image-classification", "playing-cards", "onnx", "yolo"],
        "model-index": [{"name": "feltwatch", "results": results}],
    }
    # JSON is YAML too, and quotes whatever a name may hold.
    return ["---", *(f"{key}: {json.dumps(value)}" for key, value in head.items()), "---", ""]


def use_lines(card: dict[str, Any]) -> list[str]:
    """Intended and out-of-scope use, limitations, and people in images."""
    del card
    return [*_ABOUT_USE.splitlines(), "", *_ABOUT_LIMITS.splitlines(), ""]


def evaluation_lines(card: dict[str, Any]) -> list[str]:
    """Results on photographs and of robustness; nothing where none are of these weights."""
    rows = evaluations_of(card)
    if not rows:
        return []
    return [
        "## Photographs and robustness",
        "",
        "Images that were not trained on; each line with the command that prints it.",
        "",
        "| kind | data | figure | value | samples | command |",
        "|---|---|---|---|---|---|",
        *(
            f"| {' | '.join(str(one[key]) for key in _COLUMNS)} | `{one['command']}` |"
            for one in rows
        ),
        "",
    ]


def chain_lines(card: dict[str, Any]) -> list[str]:
    """The trainings that each network came by, and how long they took."""
    lines = ["## Trainings", ""]
    for name, own in card["models"].items():
        chain = own.get("chain") or ()
        if not chain:
            lines.append(
                f"- **{name}**: {own.get('history') or 'its trainings were not recorded.'}"
            )
            continue
        minutes = sum(one.get("minutes", 0) for one in chain)
        lines.append(f"- **{name}**: {len(chain)} trainings, {minutes:g} minutes in all.")
        lines += [f"  {n}. {link_words(one)}" for n, one in enumerate(chain, 1)]
    return [*lines, ""]


def link_words(link: dict[str, Any]) -> str:
    """One training of a chain in words: its steps, seed, data and code."""
    parts = [f"weights `{link['weights_sha256'][:12]}`"]
    parts += [f"{key} {link[key]}" for key in ("steps", "seed", "rate") if key in link]
    if "minutes" in link:
        parts.append(f"{link['minutes']:g} minutes")
    parts += [f"{name} `{sha[:12]}`" for name, sha in link.get("data_sha256", {}).items()]
    if "commit" in link:
        parts.append(f"commit {link['commit'][:12]}")
    return ", ".join(parts)
