#!/bin/sh
# Adds the state of the project to the conversation.
echo "The cache server is down for maintenance."
