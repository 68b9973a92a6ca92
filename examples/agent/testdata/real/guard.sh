# Denies calls that write a file whose name begins with a dot, as guard.py does.
case $(tr -d '\n ') in
*'"path":"'.*) echo '{"decision": "Deny", "value": {"reason": "hidden files are not for agents"}}' ;;
*) echo '{"decision": "continue"}' ;;
esac
