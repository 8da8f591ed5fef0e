"""The process wrapper: first process of every attempt, in a pod and on this machine.

It starts the ranks, forwards signals, keeps what each rank ended with, writes `exit.json`, and sends
logs and what the ranks left in their journals. It and the shim of a rank import neither torch nor,
before the ranks are gone, anything that could fail with them.
"""
