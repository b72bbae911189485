"""Examples of the docstrings do what they say, and every public name has a docstring in numpydoc's form."""

import doctest

import pytest

import sparrow

PUBLIC = [(name, getattr(sparrow, name)) for name in sparrow.__all__]
MEMBERS = PUBLIC + [
    (f"{name}.{member}", value)
    for name, owner in PUBLIC
    if isinstance(owner, type) and owner is not sparrow.DeviceError
    for member, value in vars(owner).items()
    if not member.startswith("_")
]


@pytest.mark.parametrize(("name", "value"), MEMBERS, ids=[name for name, _ in MEMBERS])
def test_what_is_public_has_a_docstring_whose_examples_hold(name, value):
    # What a class of attributes alone has is said by its own docstring.
    told = f"{name.split('.')[-1]} :" in (getattr(sparrow, name.split(".")[0]).__doc__ or "")
    listed = f" {name.split('.')[-1]}, " in (getattr(sparrow, name.split(".")[0]).__doc__ or "")
    assert value.__doc__ or told or listed or name.startswith("Device."), name
    text = value.__doc__ or ""
    examples = doctest.DocTestParser().get_doctest(text, {}, name, None, None)
    assert doctest.DocTestRunner().run(examples).failed == 0


def test_the_package_says_what_it_is():
    assert doctest.testmod(sparrow).failed == 0
