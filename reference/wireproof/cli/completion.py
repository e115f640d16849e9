"""`wireproof completion`: the script with which a shell completes verbs, options, adapters and ids."""

from typing import Final

import click
from click.shell_completion import get_completion_class

SHELLS: Final = ("bash", "zsh", "fish")

ACTIVATION: Final = {
    "bash": 'eval "$(wireproof completion bash)"        # in ~/.bashrc',
    "zsh": 'eval "$(wireproof completion zsh)"         # in ~/.zshrc',
    "fish": "wireproof completion fish | source         # in ~/.config/fish/config.fish",
}
"""The line that enables completion in each shell."""


@click.command("completion", epilog="\b\n" + "\n".join(ACTIVATION.values()))
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the script with which SHELL completes verbs, options, names of adapters and ids of cases."""
    kind = get_completion_class(shell)
    assert kind is not None
    top = ctx.find_root().command
    script = kind(top, {}, "wireproof", "_WIREPROOF_COMPLETE")
    click.echo(script.source_template % script.source_vars())
