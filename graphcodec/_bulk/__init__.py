"""Jobs over many documents: here, or in the processes of Dask.

A *work* is a function of one job that says whether there was anything to do; `run` does
it for every job of a list, here or in a cluster, goes on where one fails, and reports.
What makes a job safe to run again is the work itself: its output is its record.
`Rewrite` is that for documents in `Files`, wherever fsspec reaches.
"""

from graphcodec._bulk._files import Document, Files, Found, Rewrite
from graphcodec._bulk._report import Failure, Report
from graphcodec._bulk._running import BATCH, Cluster, Job, Progress, Work, run

__all__ = [
    "BATCH",
    "Cluster",
    "Document",
    "Failure",
    "Files",
    "Found",
    "Job",
    "Progress",
    "Report",
    "Rewrite",
    "Work",
    "run",
]
