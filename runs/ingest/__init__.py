"""What training pods call, with one token per attempt: metrics, log text, the end.

`door` answers requests without knowing a web framework; `views` and `asgi` are two ways in. `senders` says who
asks, `facts` what a batch tells of its run, `statements` holds the few SQL statements of the hot path.
"""
