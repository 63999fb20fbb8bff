"""Hypothesis strategies for whatever a graph may hold."""

from graphcodec._strategies._graphs import graphs as graphs
from graphcodec._strategies._primitives import primitives as primitives
from graphcodec._strategies._primitives import readers as readers
from graphcodec._strategies._values import hashables as hashables
from graphcodec._strategies._values import plain as plain
from graphcodec._strategies._values import scalars as scalars
from graphcodec._strategies._values import values as values

__all__ = [
    "graphs",
    "hashables",
    "plain",
    "primitives",
    "readers",
    "scalars",
    "values",
]
